import { accessSlice } from '#access';
import { auditTrailSlice } from '#audit-trail';
import { registryOf, type Slice } from '#event-store';
import { organizationsSlice } from '#organizations';
import { stateSlice } from '#state';
import { workspacesSlice } from '#workspaces';

const subjects: readonly Slice[] = [organizationsSlice, accessSlice, workspacesSlice, stateSlice];

/** Every event type that can be in the log. */
export const registry = registryOf(subjects);

/** What Cadastre is made of: the one list, in the order in which their tables are made. The trail tells of all others. */
export const slices: readonly Slice[] = [...subjects, auditTrailSlice(registry)];
