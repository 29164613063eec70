import { createHash } from 'node:crypto';
import { parseStateIdentity } from '#workspaces/state';
import type { ImportedState } from '../target/origins.queries.js';
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

/** A file that is no state is refused by the site, which says why. */
const readIdentity = (bytes: Uint8Array): { readonly serial?: number; readonly lineage?: string | null } => {
  try {
    return parseStateIdentity(bytes);
  } catch {
    return {};
  }
};

const computeMd5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

const downloadVersion = (source: SourceReader, version: ForeignResource): Promise<Uint8Array> =>
  source.download(getText(version, 'hosted-state-download-url') ?? '');

const toNewVersion = (version: ForeignResource, bytes: Uint8Array) => {
  const { serial = version.attributes['serial'], lineage } = readIdentity(bytes);
  return {
    type: 'state-versions',
    attributes: {
      serial,
      md5: computeMd5(bytes),
      ...(lineage ? { lineage } : {}),
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
  const resource = toNewVersion(version, bytes);
  const outcome = await target.create(path, resource, { origin: describeOrigin(context, version), optional: [] });
  if ('refused' in outcome) report.add(KIND, `${workspace.name} ${version.id}`, 'failed', outcome.refused);
  else report.add(KIND, workspace.name, 'created');
  return 'id' in outcome;
};

/** Returns the MD5 of the file that is stored here; null if it cannot be read. */
const digestStored = async ({ target }: ImportContext, id: string): Promise<string | null> => {
  const version = await target.find(`/api/v2/state-versions/${id}`);
  const url = URL.parse((version && getText(version, 'hosted-state-download-url')) ?? '');
  return url ? target.digest(`${url.pathname}${url.search}`) : null;
};

/** Compares the bytes at the source with those that are stored here. Only --verify reads them. */
const compareVersion = async (
  context: ImportContext,
  version: ForeignResource,
  { name, state }: { readonly name: string; readonly state: ImportedState },
): Promise<void> => {
  const { source, report, mode } = context;
  if (mode !== 'verify') return report.add(KIND, name, 'same');
  const md5 = computeMd5(await downloadVersion(source, version));
  const stored = await digestStored(context, state.id);
  if (stored === md5) report.add(KIND, name, 'same');
  else if (stored === null) report.add(KIND, name, 'differs', `the file of ${version.id} cannot be read here`);
  else report.add(KIND, name, 'differs', `${version.id} has other bytes at the source`);
};

/** Returns null if the source does not return the version. The other workspaces are copied nevertheless. */
const tryVersion = async <T>(
  { report }: ImportContext,
  version: ForeignResource,
  work: () => Promise<T>,
): Promise<T | null> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ImportSourceError) || error.endsImport) throw error;
    report.add(KIND, version.id, 'failed', error.message);
    return null;
  }
};

type CopiedWorkspace = { readonly id: string; readonly name: string };

type StateCopy = {
  readonly name: string;
  /** Null if a dry run would create the workspace. */
  readonly id: string | null;
  /** The versions that are here, by their id at the source. */
  readonly copied: ReadonlyMap<string, ImportedState>;
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
    const state = copied.get(version.id);
    if (state) await tryVersion(context, version, () => compareVersion(context, version, { name, state }));
    else report.add(KIND, name, 'differs', `${version.id} is missing, and a later version is here`);
  }
  for (const version of versions.slice(first)) {
    signal.throwIfAborted();
    if (!mayChange || mode === 'verify') report.add(KIND, name, 'differs', `${version.id} is missing here`);
    else if (mode === 'dry run' || id === null) {
      report.add(KIND, name, 'created');
      expected.states += 1;
    } else if (!(await tryVersion(context, version, () => copyVersion(context, version, { id, name })))) return false;
  }
  return true;
};
