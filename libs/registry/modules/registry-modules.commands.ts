import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { ModuleNames } from './registry-module.js';
import type { ReceivedArchive } from './module.uploads.js';
import type { ModulePath, RegistryModuleRow, RegistryModuleVersionRow } from './registry-modules.queries.js';

export type RegistryModuleOperations = {
  CreateRegistryModule: Operation<
    { organization: string; attributes: ModuleNames & { readonly noCode: boolean }; actor: Actor },
    RegistryModuleRow
  >;
  UpdateRegistryModule: Operation<{ path: ModulePath; noCode: boolean | undefined; actor: Actor }, RegistryModuleRow>;
  CreateModuleVersion: Operation<
    { path: ModulePath; version: string; commitSha: string | null; actor: Actor },
    RegistryModuleVersionRow
  >;
  /** Receives the archive of a version for which a signed link was issued. */
  ReceiveModuleArchive: Operation<ReceivedArchive, void>;
  /** Deletes the module too if it has no other version. */
  DeleteModuleVersion: Operation<{ path: ModulePath; version: string; actor: Actor }, void>;
  DeleteRegistryModule: Operation<{ path: ModulePath; actor: Actor }, void>;
  /** Deletes the modules with this name, for all their providers. */
  DeleteModulesByName: Operation<{ path: Omit<ModulePath, 'provider'>; actor: Actor }, void>;
};

export class ChangeRegistryModule<T extends keyof RegistryModuleOperations> extends AggregateCommand<
  RegistryModuleOperations,
  T
> {}
