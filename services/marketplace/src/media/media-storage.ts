import type { Readable } from "node:stream";

export interface StoredObject {
  bytes: Buffer;
  contentType: string;
}

/** Stores the bytes of media by key. An object never changes: a key names its content's hash. */
export interface MediaStorage {
  /** Stores an object; storing it again is harmless. When it resolves, the object survives a crash. */
  put(key: string, object: StoredObject): Promise<void>;
  /** The object's bytes, or undefined if there is none. The caller reads the stream to its end, or destroys it. */
  read(key: string): Promise<Readable | undefined>;
  /** Deletes an object; deleting one that doesn't exist is harmless. */
  delete(key: string): Promise<void>;
  stop(): void;
}

/** Keys become names of files. */
export function assertKey(key: string): void {
  if (!/^[0-9a-f-]{1,200}$/.test(key)) throw new Error(`not a key of media: ${JSON.stringify(key.slice(0, 200))}`);
}
