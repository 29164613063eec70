import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import {
  formatChecksums,
  formatArchiveName,
  formatChecksumsName,
  formatSignatureName,
} from '#registry/provider-release';
import { sha256Of, type Signer } from './releases.js';

export type Packed = { readonly name: string; readonly version: string };

/** Returns a zip as GoReleaser makes it. A script stands for the program; it prints its name, version and system. */
const zippedProvider = ({ name, version }: Packed, system: string, more: Buffer = Buffer.alloc(0)): Promise<Buffer> => {
  const zip = new ZipFile();
  const script = Buffer.from(`#!/bin/sh\necho ${name} ${version} ${system}\nexit\n`);
  const options = { mode: 0o100755, compress: false, mtime: new Date('2026-01-01T00:00:00Z') };
  zip.addBuffer(Buffer.concat([script, more]), `terraform-provider-${name}_v${version}`, options);
  zip.end();
  return buffer(zip.outputStream as NodeJS.ReadableStream);
};

/** A release folder that tests can damage. */
export type Dist = {
  readonly path: string;
  write(file: string, content: string | Uint8Array): Promise<void>;
  /** Adds a zip of this version or of another one. */
  pack(packed: Packed, system: string, more?: Buffer): Promise<void>;
  /** Writes SHA256SUMS of the current zips, and its signature if there is a signer. */
  sum(packed: Packed, signer?: Signer): Promise<void>;
  remove(): Promise<void>;
};

export const makeDist = async (): Promise<Dist> => {
  const path = await mkdtemp(join(tmpdir(), 'cadastre-dist-'));
  const write: Dist['write'] = (file, content) => writeFile(join(path, file), content);
  return {
    path,
    write,
    pack: async (packed, system, more) => {
      const [os = '', arch = ''] = system.split('_');
      await write(formatArchiveName({ ...packed, os, arch }), await zippedProvider(packed, system, more));
    },
    sum: async (packed, signer) => {
      const zips = (await readdir(path)).filter((file) => file.endsWith('.zip'));
      const entries = zips.map(async (file) => [file, sha256Of(await readFile(join(path, file)))] as const);
      const sums = Buffer.from(formatChecksums(Object.fromEntries(await Promise.all(entries))));
      await write(formatChecksumsName(packed), sums);
      if (signer) await write(formatSignatureName(packed), await signer.sign(sums));
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
};
