import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { SavedViewContent } from './saved-view.js';
import type { SavedViewRow } from './saved-views.queries.js';

export type SavedViewOperations = {
  CreateSavedView: Operation<{ organization: string; content: SavedViewContent; actor: Actor }, SavedViewRow>;
  /** An attribute that is absent keeps its value. Resolves to null if the view has been deleted meanwhile. */
  UpdateSavedView: Operation<{ id: string; changes: Partial<SavedViewContent>; actor: Actor }, SavedViewRow | null>;
  DeleteSavedView: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeSavedView<T extends keyof SavedViewOperations> extends AggregateCommand<SavedViewOperations, T> {}
