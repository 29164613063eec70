import { z } from 'zod';
import {
  defineEvents,
  notFound,
  pickChanged,
  toAttributeName,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';

/** A site has few releases of its own, so that one stream decides whether a version is taken. */
export const TOOL_VERSIONS_STREAM = 'tool-site';

/** Each change stores all versions as the snapshot of the stream. */
const MAX_VERSIONS = 200;

/** An archive with the program for one platform. `sha` is its SHA-256. */
const toolArchiveSchema = z.strictObject({ url: z.string(), sha: z.string(), os: z.string(), arch: z.string() });
export type ToolArchive = z.infer<typeof toolArchiveSchema>;

const settingsSchema = z.strictObject({
  official: z.boolean(),
  enabled: z.boolean(),
  beta: z.boolean(),
  deprecated: z.boolean(),
  deprecatedReason: z.string().nullable(),
  archs: z.array(toolArchiveSchema).readonly(),
});
export type ToolVersionSettings = Readonly<Omit<z.infer<typeof settingsSchema>, 'archs'>> & {
  readonly archs: readonly ToolArchive[];
};

const OF_SITE = { site: 'without-organization' } as const;

/** What administrators of the site say about releases of Terraform and OpenTofu: built-in ones, and their own. */
export const toolVersionEvents = defineEvents(
  {
    topic: 'workspaces',
    stream: 'tool',
    audited: 'terraform_version',
    live: { unsent: 'an event of the site' },
    notImported: 'the releases belong to a site',
  },
  {
    ToolVersionAdded: {
      schema: z.strictObject({ id: z.string(), version: z.string(), settings: settingsSchema }),
      audit: { ...OF_SITE, action: 'create', id: ({ id }) => id, meta: ({ version }) => ({ version }) },
    },
    ToolVersionChanged: {
      schema: z.strictObject({
        id: z.string(),
        version: z.string(),
        settings: settingsSchema,
        /** Names of the changed settings, and `version`. */
        changed: z.array(z.string()),
      }),
      audit: {
        ...OF_SITE,
        action: 'update',
        id: ({ id }) => id,
        meta: ({ version, changed }) => ({ version, attributes: changed.map(toAttributeName) }),
      },
    },
    ToolVersionDeleted: {
      schema: z.strictObject({ id: z.string(), version: z.string() }),
      audit: { ...OF_SITE, action: 'destroy', id: ({ id }) => id, meta: ({ version }) => ({ version }) },
    },
  },
);

export type ToolVersionEvent = EventsOf<typeof toolVersionEvents>;

/** A release, as the site has it. */
type ToolVersionState = { readonly version: string; readonly settings: ToolVersionSettings };

/** A release that the server or a setting lists: administrators change it, but cannot rename or delete it. */
type ListedRelease = ToolVersionState;

/** The workspaces that name a version, and the runs with it that have not ended. */
export type ToolVersionUses = { readonly workspaces: number; readonly runs: number };

export const NO_USES: ToolVersionUses = { workspaces: 0, runs: 0 };

type ToolVersionCommand =
  | Message<'AddToolVersion', ToolVersionState & { id: string; isListed: boolean }>
  | Message<
      'ChangeToolVersion',
      {
        id: string;
        changes: Partial<ToolVersionSettings> & { readonly version?: string };
        listed: ListedRelease | null;
        /** Whether another release with the new version is listed. */
        isListed: boolean;
        uses: ToolVersionUses;
      }
    >
  | Message<'DeleteToolVersion', { id: string; listed: ListedRelease | null; uses: ToolVersionUses }>;

/** Releases by id. */
type ToolVersionsState = { readonly versions: Readonly<Record<string, ToolVersionState>> };

/** An id in a path can be the name of a member of every object, such as `__proto__`. */
const findVersion = ({ versions }: ToolVersionsState, id: string): ToolVersionState | undefined =>
  Object.hasOwn(versions, id) ? versions[id] : undefined;

const refuseTaken = (version: string) => unprocessable(`Version ${version} exists already`, 'version');

const requireFree = (version: string, isListed: boolean, { versions }: ToolVersionsState): void => {
  if (isListed || Object.values(versions).some((other) => other.version === version)) throw refuseTaken(version);
};

const checkSettings = ({ deprecated, deprecatedReason }: ToolVersionSettings): void => {
  if (!deprecated && deprecatedReason !== null)
    throw unprocessable('Deprecated reason is only valid for deprecated versions', 'deprecated-reason');
};

const describeNumber = (number: number, one: string, several: string): readonly string[] =>
  number === 0 ? [] : [number === 1 ? `1 ${one}` : `${number} ${several}`];

/** Returns why a version must stay as it is; null if nothing uses it. */
const describeUses = ({ workspaces, runs }: ToolVersionUses): string | null =>
  [
    ...describeNumber(workspaces, 'workspace has it', 'workspaces have it'),
    ...describeNumber(runs, 'run with it has not ended', 'runs with it have not ended'),
  ].join(', and ') || null;

const checkRename = (
  version: string,
  {
    listed,
    isListed,
    uses,
  }: { readonly listed: ListedRelease | null; readonly isListed: boolean; readonly uses: ToolVersionUses },
  present: ToolVersionState,
  state: ToolVersionsState,
): void => {
  if (listed)
    throw unprocessable(`Version cannot change: ${present.version} is a release that the server lists`, 'version');
  const reason = describeUses(uses);
  if (reason !== null) throw unprocessable(`Version cannot change: ${reason}`, 'version');
  requireFree(version, isListed, state);
};

export const toolVersions: Decider<ToolVersionsState, ToolVersionCommand, ToolVersionEvent> = {
  version: 1,
  initial: { versions: {} },
  decide: {
    AddToolVersion: ({ isListed, ...release }, state) => {
      requireFree(release.version, isListed, state);
      if (Object.keys(state.versions).length >= MAX_VERSIONS)
        throw unprocessable(`Version cannot be added: a site has at most ${MAX_VERSIONS} of them`, 'version');
      checkSettings(release.settings);
      return [{ type: 'ToolVersionAdded', data: release }];
    },
    ChangeToolVersion: ({ id, changes, ...context }, state) => {
      const present = findVersion(state, id) ?? context.listed;
      if (!present) throw notFound();
      const { version, ...settings } = pickChanged({ ...present.settings, version: present.version }, changes);
      if (version !== undefined) checkRename(version, context, present, state);
      if (context.listed?.settings.official && settings.official === false)
        throw unprocessable('Official must be true for a release that the server lists', 'official');
      const changed = Object.keys({ ...settings, ...(version === undefined ? {} : { version }) });
      if (changed.length === 0) return [];
      const all = { ...present.settings, ...settings };
      checkSettings(all);
      return [
        { type: 'ToolVersionChanged', data: { id, version: version ?? present.version, settings: all, changed } },
      ];
    },
    DeleteToolVersion: ({ id, listed, uses }, state) => {
      const present = findVersion(state, id) ?? listed;
      if (!present) throw notFound();
      const { version, settings } = present;
      if (listed)
        throw unprocessable(`${version} cannot be deleted: the server or a setting lists it. Disable it instead`);
      if (settings.official) throw unprocessable(`${version} is official, so it cannot be deleted`);
      const reason = describeUses(uses);
      if (reason !== null) throw unprocessable(`${version} cannot be deleted: ${reason}`);
      return [{ type: 'ToolVersionDeleted', data: { id, version } }];
    },
  },
  evolve: {
    ToolVersionAdded: ({ id, version, settings }, { versions }) => ({
      versions: { ...versions, [id]: { version, settings } },
    }),
    ToolVersionChanged: ({ id, version, settings }, { versions }) => ({
      versions: { ...versions, [id]: { version, settings } },
    }),
    ToolVersionDeleted: ({ id }, { versions }) => ({
      versions: Object.fromEntries(Object.entries(versions).filter(([other]) => other !== id)),
    }),
  },
};
