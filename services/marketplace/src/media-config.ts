import { type CleanedEnv, str, url, type VariableErrors } from "@ehr-marketplace/service-kit/config";
import type { BucketConfig } from "./media/bucket-storage.ts";

/** Environment variables of the storage of media, which the API writes and reads, and from which the worker deletes. */
export const mediaEnvironment = {
  MEDIA_DIRECTORY: str({
    desc: "Folder for vendors' files, the same for all processes. Required unless MEDIA_BUCKET is set",
    example: "/var/lib/marketplace/media",
    default: "",
  }),
  MEDIA_BUCKET: str({ desc: "Bucket for vendors' files, of S3 or a compatible server", default: "" }),
  MEDIA_ENDPOINT: url({
    desc: "URL of the bucket's server; unset means that of AWS",
    example: "https://s3.internal",
    default: "",
  }),
  MEDIA_REGION: str({ desc: "Region of the bucket", default: "us-east-1" }),
  MEDIA_ACCESS_KEY_ID: str({
    desc: "Access key of the bucket; unset means the credentials that the AWS SDK finds",
    example: "marketplace",
    default: "",
  }),
  MEDIA_SECRET_ACCESS_KEY: str({
    desc: "Secret of that access key",
    example: "$(openssl rand -hex 20)",
    default: "",
  }),
};

type Read = CleanedEnv<typeof mediaEnvironment>;

export type MediaConfig = { directory: string } | BucketConfig;

/** Settings that are valid by themselves, but not together. */
export function findMediaErrors(read: Partial<Read & { NODE_ENV: string }>): VariableErrors {
  const isSet = (name: keyof Read): boolean => (read[name] ?? "") !== "";
  const secret = isSet("MEDIA_SECRET_ACCESS_KEY");
  return {
    MEDIA_DIRECTORY: isSet("MEDIA_DIRECTORY") || isSet("MEDIA_BUCKET") ? undefined : "is required",
    MEDIA_ENDPOINT: findEndpointError(read),
    MEDIA_ACCESS_KEY_ID: secret && !isSet("MEDIA_ACCESS_KEY_ID") ? "is required with its secret" : undefined,
    MEDIA_SECRET_ACCESS_KEY: isSet("MEDIA_ACCESS_KEY_ID") && !secret ? "is required with its access key" : undefined,
  };
}

const loopback = /^http:\/\/(localhost|127\.[\d.]+|\[::1\])([:/]|$)/;

function findEndpointError({ NODE_ENV = "production", MEDIA_ENDPOINT = "" }: Partial<Read & { NODE_ENV: string }>) {
  if (NODE_ENV !== "production" || MEDIA_ENDPOINT === "") return undefined;
  if (MEDIA_ENDPOINT.startsWith("https://") || loopback.test(MEDIA_ENDPOINT)) return undefined;
  return "must begin with https:// in production, because agreements of vendors and drafts would be readable in transit";
}

export function mediaConfig(read: Read): MediaConfig {
  if (read.MEDIA_BUCKET === "") return { directory: read.MEDIA_DIRECTORY };
  const { MEDIA_ACCESS_KEY_ID: accessKeyId, MEDIA_SECRET_ACCESS_KEY: secretAccessKey } = read;
  return {
    bucket: read.MEDIA_BUCKET,
    endpoint: read.MEDIA_ENDPOINT === "" ? undefined : read.MEDIA_ENDPOINT,
    region: read.MEDIA_REGION,
    credentials: accessKeyId === "" ? undefined : { accessKeyId, secretAccessKey },
  };
}
