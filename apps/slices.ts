import { accessSlice } from '#access';
import { registryOf, type Slice } from '#event-store';
import { organizationsSlice } from '#organizations';
import { stateSlice } from '#state';
import { workspacesSlice } from '#workspaces';

/** What Cadastre is made of: the one list, in the order in which their tables are made. */
export const slices: readonly Slice[] = [organizationsSlice, accessSlice, workspacesSlice, stateSlice];

export const registry = registryOf(slices);
