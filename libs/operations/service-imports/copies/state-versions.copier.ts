import { createHash } from 'node:crypto';
import type { SourceReader } from '../source/source.reader.js';
import { ImportSourceError } from '../source/source-errors.js';
import { getText, type ForeignResource } from '../source/source-documents.js';
import { describeOrigin, type ImportContext } from './resources.copier.js';

const KIND = 'state versions';
/** More versions of one workspace are not read. Use the newest ones. */
const MAX_VERSIONS = 100_000;

/** Returns the versions that have a file, oldest first. */
const listVersions = async (context: ImportContext, workspace: string): Promise<readonly ForeignResource[]> => {
  const { source, organization, newestStates } = context;
  const versions: ForeignResource[] = [];
  const filters = { 'filter[workspace][name]': workspace, 'filter[organization][name]': organization };
  // The list begins with the newest version.
  for await (const { id, type, attributes, related } of source.list('/api/v2/state-versions', filters)) {
    if (versions.length >= MAX_VERSIONS)
      throw new ImportSourceError(`${workspace} has more than ${MAX_VERSIONS} states`);
    if (versions.length === newestStates) break;
    if (typeof attributes['hosted-state-download-url'] !== 'string') continue;
    const { serial, 'created-at': created, 'hosted-state-download-url': url } = attributes;
    versions.push({
      id,
      type,
      attributes: { serial, 'created-at': created, 'hosted-state-download-url': url },
      related,
    });
  }
  return versions.reverse();
};

const readFacts = (bytes: Uint8Array): { readonly serial?: unknown; readonly lineage?: unknown } => {
  try {
    return (JSON.parse(Buffer.from(bytes).toString('utf8')) ?? {}) as { serial?: unknown; lineage?: unknown };
  } catch {
    return {};
  }
};

const computeMd5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

const downloadVersion = (source: SourceReader, version: ForeignResource): Promise<Uint8Array> =>
  source.download(getText(version, 'hosted-state-download-url') ?? '');

const toNewVersion = (version: ForeignResource, bytes: Uint8Array) => {
  const { serial, lineage } = readFacts(bytes);
  return {
    type: 'state-versions',
    attributes: {
      serial: typeof serial === 'number' ? serial : version.attributes['serial'],
      md5: computeMd5(bytes),
      ...(typeof lineage === 'string' ? { lineage } : {}),
      // At the source, a version can have the serial of an earlier one.
      force: true,
      state: Buffer.from(bytes).toString('base64'),
    },
  };
};

const copyVersion = async (
  context: ImportContext,
  version: ForeignResource,
  workspace: CopiedWorkspace,
): Promise<boolean> => {
  const { source, target, report } = context;
  const bytes = await downloadVersion(source, version);
  const path = `/api/v2/workspaces/${workspace.id}/state-versions`;
  const outcome = await target.create(path, toNewVersion(version, bytes), describeOrigin(context, version));
  if ('refused' in outcome) report.add(KIND, `${workspace.name} ${version.id}`, 'failed', outcome.refused);
  else report.add(KIND, workspace.name, 'created');
  return 'id' in outcome;
};

/** Compares the bytes at the source with those that were stored here. Only --verify reads them. */
const compareVersion = async (
  { source, report, mode }: ImportContext,
  version: ForeignResource,
  { name, md5 }: { readonly name: string; readonly md5: string },
): Promise<void> => {
  const isSame = mode !== 'verify' || computeMd5(await downloadVersion(source, version)) === md5;
  if (isSame) report.add(KIND, name, 'same');
  else report.add(KIND, name, 'differs', `${version.id} has other bytes at the source`);
};

type CopiedWorkspace = { readonly id: string; readonly name: string };

type StateCopy = {
  readonly name: string;
  /** Null if a dry run would create the workspace. */
  readonly id: string | null;
  /** The MD5 of versions that are here, by their id at the source. */
  readonly copied: ReadonlyMap<string, string>;
  readonly mayChange: boolean;
};

/**
 * Copies the versions of a workspace that are missing, oldest first. Stops at the first one that is refused, because the
 * last one becomes the current state. Returns whether none is missing.
 */
export const copyStateVersions = async (context: ImportContext, copy: StateCopy): Promise<boolean> => {
  const { report, mode, signal, expected } = context;
  const { name, id, copied, mayChange } = copy;
  const versions = await listVersions(context, name);
  // A version between copied ones cannot be added: it would become the current state.
  const first = versions.findLastIndex((version) => copied.has(version.id)) + 1;
  for (const version of versions.slice(0, first)) {
    const md5 = copied.get(version.id);
    if (md5 !== undefined) await compareVersion(context, version, { name, md5 });
    else report.add(KIND, name, 'differs', `${version.id} is missing, and a later version is here`);
  }
  for (const version of versions.slice(first)) {
    signal.throwIfAborted();
    if (!mayChange || mode === 'verify') report.add(KIND, name, 'differs', `${version.id} is missing here`);
    else if (mode === 'dry run' || id === null) {
      report.add(KIND, name, 'created');
      expected.states += 1;
    } else if (!(await copyVersion(context, version, { id, name }))) return false;
  }
  return true;
};
