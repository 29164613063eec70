import type { DataOf } from '#platform/kernel';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { BindingRow } from '#organizations/tag-bindings';
import type { ProjectCommand } from './project.js';
import type { ProjectRow } from './projects.queries.js';

export type ProjectOperations = {
  CreateProject: Operation<
    { organization: string; data: DataOf<ProjectCommand, 'CreateProject'>; actor: Actor },
    ProjectRow
  >;
  /** Resolves to null if the project has been deleted meanwhile. */
  UpdateProject: Operation<
    { id: string; data: DataOf<ProjectCommand, 'UpdateProject'>; actor: Actor },
    ProjectRow | null
  >;
  /** Resolves to all bindings of the project. */
  BindProjectTags: Operation<
    { id: string; data: DataOf<ProjectCommand, 'BindProjectTags'>; actor: Actor },
    readonly BindingRow[]
  >;
  DeleteProject: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeProject<T extends keyof ProjectOperations> extends AggregateCommand<ProjectOperations, T> {}
