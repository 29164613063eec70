import { Injectable } from '@nestjs/common';
import { can, type Actor } from '#api/access';
import type { Sql } from '#platform/kernel';
import { defineRelated, type RelatedResources } from '#api/json-api';
import { CurrentRuns } from '#workspaces/workspaces';
import type { RunIncludes } from '../runs/runs.include.js';
import { RunRenderer } from '../runs/runs.renderer.js';
import { renderAssessment } from './assessments.document.js';
import { selectAssessmentsByIds, type AssessmentRow } from './assessments.view.js';

/** Renders the runs and health assessments that documents of workspaces include. */
@Injectable()
export class WorkspaceRuns extends CurrentRuns {
  constructor(private readonly runs: RunRenderer) {
    super();
  }

  override related(ids: Sql, includes: RunIncludes, actor: Actor): readonly RelatedResources[] {
    return this.runs.related(ids, includes, actor);
  }

  override relatedConfigurations(ids: Sql, actor: Actor): RelatedResources {
    return this.runs.relatedConfigurations(ids, actor);
  }

  override relatedAssessments(ids: Sql, actor: Actor): RelatedResources {
    return defineRelated<AssessmentRow>(selectAssessmentsByIds(ids, actor), (rows) =>
      rows.filter((row) => can(actor, 'read-runs', row)).map(renderAssessment),
    );
  }

  override countUnfinished(version: string): Sql {
    return this.runs.countUnfinished(version);
  }
}
