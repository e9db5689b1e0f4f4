import type { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { assertKey, type MediaStorage } from "./media-storage.ts";

export interface BucketConfig {
  bucket: string;
  /** Without one, the endpoint of AWS in the region. */
  endpoint: string | undefined;
  region: string;
  /** Without them, those that the SDK finds, such as the role of the machine. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

const isMissing = (error: unknown): boolean =>
  error instanceof NoSuchKey || (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404);

/** More than there are slots for downloads, each of which keeps a connection for as long as its reader takes. */
const maxReadConnections = 160;

/** Media in a bucket of an S3-compatible server. */
export function createBucketStorage({ bucket, endpoint, region, credentials }: BucketConfig): MediaStorage {
  const settings: S3ClientConfig = {
    region,
    // Not all S3-compatible servers have a name for each bucket.
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // Servers other than that of AWS may not know the checksums that the SDK adds by default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 2,
  };
  const timeouts = { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true };
  const connections = { maxSockets: maxReadConnections, keepAlive: true };
  const agents = { httpAgent: connections, httpsAgent: connections };
  // Slow readers keep no connection that an upload needs.
  const readers = new S3Client({ ...settings, requestHandler: { ...timeouts, ...agents } });
  const writers = new S3Client({ ...settings, requestHandler: timeouts });
  const locate = (key: string): { Bucket: string; Key: string } => {
    assertKey(key);
    return { Bucket: bucket, Key: key };
  };
  return {
    async put(key, { bytes, contentType }) {
      const object = { ...locate(key), Body: bytes, ContentType: contentType, ContentLength: bytes.length };
      await writers.send(new PutObjectCommand(object));
    },
    async read(key) {
      try {
        const { Body } = await readers.send(new GetObjectCommand(locate(key)));
        return Body as Readable | undefined;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async delete(key) {
      try {
        await writers.send(new DeleteObjectCommand(locate(key)));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
    stop() {
      readers.destroy();
      writers.destroy();
    },
  };
}
