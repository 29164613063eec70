import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The folder that publish-files.build.ts fills in a build. */
const FOLDER = fileURLToPath(new URL('../../api-docs/', import.meta.url));

const publishedFile = z.object({
  mediaType: z.string(),
  /** Of the compressed content, in bytes. */
  size: z.int(),
  etag: z.string(),
  /** The Content-Security-Policy, if the file needs more than other responses. */
  policy: z.string().optional(),
});
export type PublishedFile = z.infer<typeof publishedFile>;

const fileList = z.record(z.string(), publishedFile);

/** The documents about the API that a build contains, compressed with gzip. */
export class PublishedFiles {
  private files: Promise<ReadonlyMap<string, PublishedFile>> | null = null;

  /** Returns null if there is no file with this name, such as `openapi.json` or `schemas/WorkspaceCreated.json`. */
  async find(name: string): Promise<PublishedFile | null> {
    this.files ??= this.readList();
    return (await this.files).get(name) ?? null;
  }

  /** Opens the compressed content of a file that was found. */
  open(name: string): NodeJS.ReadableStream {
    return createReadStream(join(FOLDER, `${name}.gz`));
  }

  private async readList(): Promise<ReadonlyMap<string, PublishedFile>> {
    const text = await readFile(join(FOLDER, 'files.json'), 'utf8');
    return new Map(Object.entries(fileList.parse(JSON.parse(text))));
  }
}
