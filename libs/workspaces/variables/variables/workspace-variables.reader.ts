import { Injectable } from '@nestjs/common';
import { can, type Actor } from '#api/access';
import type { Sql } from '#platform/kernel';
import { defineRelated, type RelatedResources } from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { WorkspaceVariables } from '#workspaces/workspaces';
import type { VariableRead } from '../reads.events.js';
import { renderVariable } from './variables.document.js';
import { selectVariablesOfWorkspaces, type WorkspaceVariableRow } from './variables.queries.js';

const createReadEvents = (rows: readonly WorkspaceVariableRow[]): readonly VariableRead[] =>
  [...Map.groupBy(rows, ({ owner }) => owner)].map(([id, { length: count }]) => ({
    type: 'VariablesListed',
    data: { owner: { type: 'workspaces', id }, count },
  }));

/** Reads the variables that documents of workspaces include. The audit trail records it as it records a list. */
@Injectable()
export class WorkspaceVariablesReader extends WorkspaceVariables {
  constructor(private readonly reads: ReadRecorder) {
    super();
  }

  override related(workspaces: Sql, actor: Actor): RelatedResources {
    return defineRelated<WorkspaceVariableRow>(selectVariablesOfWorkspaces(workspaces, actor), async (rows) => {
      const readable = rows.filter((row) => can(actor, 'read-variables', row));
      await this.reads.record<VariableRead>(actor, readable[0]?.organization ?? null, ...createReadEvents(readable));
      return readable.map(renderVariable);
    });
  }
}
