import { constants, createWriteStream, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Headers, type Pack } from 'tar-stream';

type PackedSource = {
  /** The path in the archive. */
  readonly name: string;
  /** A file or folder. */
  readonly path: string;
};

const addEntry = (archive: Pack, header: Headers): Promise<void> =>
  new Promise((resolve, reject) => {
    archive.entry(header, (error) => (error ? reject(error) : resolve()));
  });

/** Code of the run may have replaced the file by a link since. */
const addFile = async (archive: Pack, name: string, path: string): Promise<void> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size, mode } = await file.stat();
    const entry = archive.entry({ name, size, mode: mode & 0o777, type: 'file' });
    if (size === 0) entry.end();
    else await pipeline(file.createReadStream({ end: size - 1, autoClose: false }), entry);
  } finally {
    await file.close();
  }
};

const addFolder = async (
  archive: Pack,
  { name, path }: PackedSource,
  isLeftOut: (name: string) => boolean,
): Promise<void> => {
  for (const child of await readdir(path)) {
    const source = { name: `${name}/${child}`, path: join(path, child) };
    if (!isLeftOut(source.name)) await addSource(archive, source, isLeftOut);
  }
};

const addSource = async (archive: Pack, source: PackedSource, isLeftOut: (name: string) => boolean): Promise<void> => {
  const { name, path } = source;
  const stats: Stats = await lstat(path);
  if (stats.isSymbolicLink()) return addEntry(archive, { name, type: 'symlink', linkname: await readlink(path) });
  if (stats.isFile()) return addFile(archive, name, path);
  // Sockets and pipes of programs that have ended are of no use.
  if (!stats.isDirectory()) return;
  await addEntry(archive, { name, type: 'directory', mode: stats.mode & 0o777 });
  await addFolder(archive, source, isLeftOut);
};

/** Packs files and folders into a gzipped tar, without the entries that are left out. */
export const packArchive = async (
  sources: readonly PackedSource[],
  target: string,
  isLeftOut: (name: string) => boolean,
): Promise<void> => {
  const archive = pack();
  const writing = pipeline(archive, createGzip({ level: 1 }), createWriteStream(target, { flags: 'wx', mode: 0o600 }));
  try {
    for (const source of sources) await addSource(archive, source, isLeftOut);
    archive.finalize();
  } catch (error) {
    archive.destroy(error as Error);
    await writing.catch(() => undefined);
    throw error;
  }
  await writing;
};
