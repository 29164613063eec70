import type { ToolVersion } from '../../api/tool-versions.js';

export type ToolVersionAction = 'enable' | 'disable' | 'deprecate' | 'restore' | 'change' | 'delete';

type ToolVersionWords = {
  readonly action: string;
  readonly title: (version: string) => string;
  readonly done: (version: string) => string;
};

/** The actions of a site administrator on a version. */
export const VERSION_ACTIONS: Readonly<Record<ToolVersionAction, ToolVersionWords>> = {
  enable: {
    action: 'Enable',
    title: (version) => `Enable ${version}`,
    done: (version) => `${version} is enabled.`,
  },
  disable: {
    action: 'Disable',
    title: (version) => `Disable ${version}`,
    done: (version) => `${version} is disabled.`,
  },
  deprecate: {
    action: 'Deprecate',
    title: (version) => `Deprecate ${version}`,
    done: (version) => `${version} is deprecated.`,
  },
  restore: {
    action: 'End the deprecation',
    title: (version) => `End the deprecation of ${version}`,
    done: (version) => `${version} is no longer deprecated.`,
  },
  change: {
    action: 'Change',
    title: (version) => `Change ${version}`,
    done: (version) => `${version} is changed.`,
  },
  delete: {
    action: 'Delete',
    title: (version) => `Delete ${version}`,
    done: (version) => `${version} is deleted.`,
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
