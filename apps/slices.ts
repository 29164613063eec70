import { agentsSlice } from '#agents';
import { auditTrailSlice } from '#audit-trail';
import type { BlobStore } from '#blob-store';
import { registryOf, type Follower, type Slice } from '#event-store';
import { organizationsSlice } from '#organizations';
import { peopleSlice } from '#people';
import { configurationSweeper, runsSlice } from '#runs';
import { sshKeysSlice } from '#ssh-keys';
import { stateSlice, stateSweeper } from '#state';
import { variablesSlice } from '#variables';
import { vaultSlice } from '#vault';
import { workspacesSlice } from '#workspaces';

const subjects: readonly Slice[] = [
  organizationsSlice,
  peopleSlice,
  workspacesSlice,
  stateSlice,
  runsSlice,
  agentsSlice,
  sshKeysSlice,
  variablesSlice,
];

/** Every event type that can be in the log. */
export const registry = registryOf(subjects);

/** What Cadastre is made of: the one list, in the order in which their tables are made. The trail tells of all others. */
export const slices: readonly Slice[] = [vaultSlice, ...subjects, auditTrailSlice(registry)];

/** Followers that remove files; they want the files' store, so no slice can list them. */
export const sweepers = (blobs: BlobStore): readonly Follower[] => [configurationSweeper(blobs), stateSweeper(blobs)];
