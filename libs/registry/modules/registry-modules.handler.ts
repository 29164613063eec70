import { CommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import { changeResource, createEventContext, createResource, loadParentOrganization } from '#api/access';
import {
  AggregateHandler,
  decideWrite,
  EventStore,
  expectVersion,
  getFirstRow,
  type OperationTable,
} from '#storage/event-store';
import { ModuleUploads } from './module.uploads.js';
import { registryModule } from './registry-module.js';
import { ChangeRegistryModule, type RegistryModuleOperations } from './registry-modules.commands.js';
import {
  loadModuleForCommand,
  loadModulesForDeletion,
  selectModuleById,
  selectModuleVersionById,
  type RegistryModuleRow,
  type RegistryModuleVersionRow,
} from './registry-modules.queries.js';

/** Modules that one request deletes. */
const MAX_DELETED_MODULES = 100;

type InputOf<T extends keyof RegistryModuleOperations> = RegistryModuleOperations[T]['input'];

@CommandHandler(ChangeRegistryModule)
export class RegistryModulesHandler extends AggregateHandler<RegistryModuleOperations> {
  protected readonly operations: OperationTable<RegistryModuleOperations> = {
    CreateRegistryModule: (input) => this.create(input),
    UpdateRegistryModule: (input) => this.update(input),
    CreateModuleVersion: (input) => this.createVersion(input),
    ReceiveModuleArchive: (input) => this.uploads.receive(input),
    DeleteModuleVersion: (input) => this.deleteVersion(input),
    DeleteRegistryModule: (input) => this.delete(input),
    DeleteModulesByName: (input) => this.deleteByName(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly uploads: ModuleUploads,
  ) {
    super();
  }

  private async create(input: InputOf<'CreateRegistryModule'>): Promise<RegistryModuleRow> {
    const { organization, attributes, actor } = input;
    const id = this.ids.next('mod');
    const rows = await createResource(this.store, registryModule, {
      id,
      actor,
      load: () => loadParentOrganization(this.store.database, actor, 'manage-modules', organization),
      command: { type: 'CreateRegistryModule', data: attributes },
      read: () => [selectModuleById(id)],
    }).catch(refuseTakenName('registry_modules_names_key'));
    return getFirstRow<RegistryModuleRow>(rows);
  }

  private async update({ path, noCode, actor }: InputOf<'UpdateRegistryModule'>): Promise<RegistryModuleRow> {
    const rows = await changeResource(this.store, registryModule, {
      actor,
      load: () => loadModuleForCommand(this.store.database, actor, path),
      command: { type: 'UpdateRegistryModule', data: { noCode } },
      read: ({ id }) => [selectModuleById(id)],
    });
    return getFirstRow<RegistryModuleRow>(rows);
  }

  private async createVersion(input: InputOf<'CreateModuleVersion'>): Promise<RegistryModuleVersionRow> {
    const { path, version, commitSha, actor } = input;
    const versionId = this.ids.next('modver');
    const rows = await changeResource(this.store, registryModule, {
      actor,
      load: () => loadModuleForCommand(this.store.database, actor, path),
      command: { type: 'CreateModuleVersion', data: { versionId, version, commitSha } },
      read: () => [selectModuleVersionById(versionId)],
    });
    return getFirstRow<RegistryModuleVersionRow>(rows);
  }

  private async deleteVersion({ path, version, actor }: InputOf<'DeleteModuleVersion'>): Promise<void> {
    await changeResource(this.store, registryModule, {
      actor,
      load: () => loadModuleForCommand(this.store.database, actor, path),
      command: { type: 'DeleteModuleVersion', data: { version } },
    });
  }

  private async delete({ path, actor }: InputOf<'DeleteRegistryModule'>): Promise<void> {
    await changeResource(this.store, registryModule, {
      actor,
      load: () => loadModuleForCommand(this.store.database, actor, path),
      command: { type: 'DeleteRegistryModule', data: {} },
    });
  }

  private async deleteByName({ path, actor }: InputOf<'DeleteModulesByName'>): Promise<void> {
    await this.store.retryOnConflict(async () => {
      const modules = await loadModulesForDeletion(this.store.database, actor, path, MAX_DELETED_MODULES + 1);
      if (modules.length > MAX_DELETED_MODULES)
        throw unprocessable(
          `More than ${MAX_DELETED_MODULES} modules have this name. Delete them by name and provider`,
        );
      const writes = modules.map(async ({ id, organization, snapshot }) => {
        const loaded = await this.store.restore(id, registryModule, snapshot);
        return decideWrite(registryModule, loaded, organization, { type: 'DeleteRegistryModule', data: {} });
      });
      const guards = (modules[0]?.preconditions ?? []).map(({ stream, version }) => expectVersion(stream, version));
      await this.store.append([...guards, ...(await Promise.all(writes))], createEventContext(actor));
    });
  }
}
