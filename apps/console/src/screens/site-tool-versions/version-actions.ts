import type { ToolVersion } from '../../api/tool-versions.js';

export type ToolVersionAction = 'enable' | 'disable' | 'deprecate' | 'restore' | 'change' | 'delete';

type ToolVersionWords = {
  readonly action: string;
  readonly title: (version: string) => string;
  readonly done: (version: string) => string;
  /** What the change does, and what stays. */
  readonly effect: string;
};

/** The actions of a site administrator on a version. */
export const VERSION_ACTIONS: Readonly<Record<ToolVersionAction, ToolVersionWords>> = {
  enable: {
    action: 'Enable',
    title: (version) => `Enable ${version}`,
    done: (version) => `Workspaces can choose ${version}.`,
    effect: 'Workspaces can choose the version, and constraints and “latest” can resolve to it.',
  },
  disable: {
    action: 'Disable',
    title: (version) => `Disable ${version}`,
    done: (version) => `Workspaces cannot choose ${version} any more.`,
    effect:
      'Workspaces cannot choose the version any more. Those that have it keep it. Constraints and “latest” resolve to other versions.',
  },
  deprecate: {
    action: 'Deprecate',
    title: (version) => `Deprecate ${version}`,
    done: (version) => `${version} is deprecated.`,
    effect: 'Logs of plans with the version begin with a warning that has your reason. Workspaces can still choose it.',
  },
  restore: {
    action: 'End the deprecation',
    title: (version) => `End the deprecation of ${version}`,
    done: (version) => `${version} is no longer deprecated.`,
    effect: 'Logs of plans no longer begin with a warning.',
  },
  change: {
    action: 'Change',
    title: (version) => `Change ${version}`,
    done: (version) => `${version} is changed.`,
    effect: '',
  },
  delete: {
    action: 'Delete',
    title: (version) => `Delete ${version}`,
    done: (version) => `${version} is deleted.`,
    effect: 'Workspaces cannot choose the version any more.',
  },
};

/** The server lists releases that it knows without the time of an addition. */
const explainDeletionRefusal = ({ attributes }: ToolVersion): string | undefined => {
  if (attributes['created-at'] === null) return 'The server lists this release. Disable it instead.';
  if (attributes.official) return 'The version is official. Change that first.';
  return attributes.usage > 0 ? 'Workspaces use the version. Disable it instead.' : undefined;
};

/** Returns the actions that make sense for a version, in the order of the menu. */
export const listVersionActions = (
  version: ToolVersion,
): readonly { readonly action: ToolVersionAction; readonly refusal?: string | undefined }[] => [
  { action: 'change' },
  { action: version.attributes.enabled ? 'disable' : 'enable' },
  { action: version.attributes.deprecated ? 'restore' : 'deprecate' },
  { action: 'delete', refusal: explainDeletionRefusal(version) },
];
