import { CommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import { type Actor, type Permission, createResource, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  type OperationTable,
} from '#storage/event-store';
import { type SavedViewContent, savedView, type SavedViewCommand } from './saved-view.js';
import {
  type SavedViewRow,
  findSavedView,
  loadOrganizationForSavedView,
  selectSavedViewById,
} from './saved-views.view.js';

type SavedViewOperations = {
  CreateSavedView: Operation<{ organization: string; content: SavedViewContent; actor: Actor }, SavedViewRow>;
  /** An attribute that is absent keeps its value. Resolves to null if the view has been deleted meanwhile. */
  UpdateSavedView: Operation<{ id: string; changes: Partial<SavedViewContent>; actor: Actor }, SavedViewRow | null>;
  DeleteSavedView: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeSavedView<T extends keyof SavedViewOperations> extends AggregateCommand<SavedViewOperations, T> {}

/** The limit for a person in an organization. Simultaneous requests can exceed it by their number, which is harmless. */
const MAX_VIEWS = 100;

const refuseTaken = refuseTakenName('saved_views_owner_name_key');

type ChangeOfSavedView = Extract<SavedViewCommand, { type: 'UpdateSavedView' | 'DeleteSavedView' }>;

@CommandHandler(ChangeSavedView)
export class SavedViewsHandler extends AggregateHandler<SavedViewOperations> {
  protected readonly operations: OperationTable<SavedViewOperations> = {
    CreateSavedView: (input) => this.create(input),
    UpdateSavedView: ({ id, changes, actor }) =>
      this.change(id, { type: 'UpdateSavedView', data: changes }, 'save-views', actor),
    DeleteSavedView: async ({ id, actor }) => {
      await this.change(id, { type: 'DeleteSavedView', data: {} }, 'delete-saved-view', actor);
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async create(input: SavedViewOperations['CreateSavedView']['input']): Promise<SavedViewRow> {
    const { organization, content, actor } = input;
    const id = this.ids.next('sview');
    const rows = await createResource(this.store, savedView, {
      id,
      actor,
      load: async () => {
        const parent = await loadOrganizationForSavedView(this.store.database, actor, organization);
        if (parent.existing >= MAX_VIEWS) {
          throw unprocessable(`You can save at most ${MAX_VIEWS} views in an organization. Delete one`);
        }
        return parent;
      },
      command: { type: 'CreateSavedView', data: { ...content, createdBy: actor.id } },
      read: () => [selectSavedViewById(id)],
    }).catch(refuseTaken);
    return getFirstRow<SavedViewRow>(rows);
  }

  private async change(
    id: string,
    command: ChangeOfSavedView,
    permission: Permission,
    actor: Actor,
  ): Promise<SavedViewRow | null> {
    const rows = await changeResource(this.store, savedView, {
      actor,
      load: () => findSavedView(this.store.database, actor, permission, id),
      command,
      read: () => [selectSavedViewById(id)],
    }).catch(refuseTaken);
    return getFirstRowOrNull<SavedViewRow>(rows);
  }
}
