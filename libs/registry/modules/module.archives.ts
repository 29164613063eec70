import { PassThrough, type Readable } from 'node:stream';
import type { Headers } from 'tar-stream';
import { unprocessable } from '#platform/kernel';
import { ArchiveLimits, readArchiveEntries, toArchiveError, UnusableArchiveError } from '#storage/blob-store';

const LIMITS = { noun: 'module', mostFiles: 10_000, mostMib: 256 };
const MAX_PATH_CHARACTERS = 1_024;

const CONFIGURATION_FILE = /^(?:modules\/[^/]+\/)?[^/]+\.(?:tf|tofu)(?:\.json)?$/;

/** Returns the path of an entry, without `./` before it. Throws if a client could write it elsewhere. */
const toModulePath = (name: string): string => {
  if (name.length > MAX_PATH_CHARACTERS)
    throw new UnusableArchiveError(`The archive has a path of more than ${MAX_PATH_CHARACTERS} characters`);
  const isAbsolute = name.startsWith('/') || /^[A-Za-z]:/.test(name);
  if (isAbsolute || name.includes('\\') || name.split('/').includes('..'))
    throw new UnusableArchiveError(`The archive has a path outside of the module: ${JSON.stringify(name)}`);
  return name
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
};

/** Clients unpack files and folders only: a link could lead out of the folder of the module. */
const checkKind = ({ name, type }: Headers): void => {
  if (type === 'file' || type === 'directory') return;
  const kind = type === 'symlink' || type === 'link' ? 'a link' : 'neither a file nor a folder';
  throw new UnusableArchiveError(`The archive may have only files and folders, but ${JSON.stringify(name)} is ${kind}`);
};

/** Throws `UnusableArchiveError` if the archive is no module. */
const checkArchive = async (archive: Readable, signal: AbortSignal): Promise<void> => {
  let hasConfiguration = false;
  await readArchiveEntries(archive, new ArchiveLimits(LIMITS), signal, async (entry) => {
    checkKind(entry.header);
    const path = toModulePath(entry.header.name);
    if (entry.header.type === 'file' && CONFIGURATION_FILE.test(path)) hasConfiguration = true;
    entry.resume();
  });
  if (!hasConfiguration)
    throw new UnusableArchiveError(
      'The archive has no .tf file at its root or in modules/NAME. Pack the files of the module without a folder around them',
    );
};

/** The reader consumes a piece in milliseconds. Longer means that it waits for something that does not come. */
const MAX_WAIT_MS = 60_000;

/**
 * Yields an uploaded archive while it is checked. Throws 422 at the end if it is no module, so that it is not stored. Nothing
 * of it is executed or written to a disk.
 */
export const checkWhileReading = async function* (content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const ending = new AbortController();
  const archive = new PassThrough();
  let proceed = (): void => undefined;
  // One listener for all pieces. An error of the archive also fails the check, which describes it.
  for (const event of ['drain', 'close', 'error']) archive.on(event, () => proceed());
  const checked = checkArchive(archive, ending.signal).catch((error: unknown) => {
    throw unprocessable(toArchiveError(error, LIMITS.noun, ending.signal).message);
  });
  // It fails while this function waits for the client, which must not end the process.
  checked.catch(() => archive.destroy());
  const limitWait = async (work: Promise<void>): Promise<void> => {
    const timer = setTimeout(() => ending.abort(), MAX_WAIT_MS);
    await work.finally(() => clearTimeout(timer));
  };
  try {
    for await (const piece of content) {
      if (archive.destroyed) break;
      const isFull = !archive.write(piece);
      if (isFull)
        await limitWait(
          new Promise((resolve) => {
            proceed = resolve;
            if (archive.destroyed) resolve();
          }),
        );
      yield piece;
    }
    archive.end();
    await limitWait(checked);
  } finally {
    ending.abort();
  }
};
