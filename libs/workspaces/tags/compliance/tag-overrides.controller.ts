import { Body, Controller, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderPage,
  parsePage,
  parseBody,
  toOne,
  omitNullish,
  fromAttributes,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { previewBody } from '../reserved-tag-keys/reserved-tag-keys.controller.js';
import { deriveTagBindingId } from '#organizations/tag-bindings';
import {
  loadReservationPreview,
  type ReservationPreview,
  type ReservationRule,
  type TagOverrideRow,
} from './tag-overrides.queries.js';

/**
 * Renders an override with the id of the workspace's own binding. A flat tag shows as a binding with an empty value.
 */
const renderTagOverride = (row: TagOverrideRow): Resource => ({
  id: deriveTagBindingId(row.id, row.key),
  type: 'tag-overrides',
  attributes: {
    'workspace-name': row.name,
    'project-name': row.projectName,
    key: row.key,
    value: row.value ?? '',
    'project-value': row.projectValue,
    'set-at': row.setAt,
    'set-by': row.setBy,
  },
  relationships: {
    workspace: toOne('workspaces', row.id, `/api/v2/workspaces/${row.id}`),
    project: toOne('projects', row.project, `/api/v2/projects/${row.project}`),
  },
});

/** Renders a rule. Bindings are refused only if overrides are disabled. */
const renderRule = ({ key, disableOverrides, reach: { overrides, projects, workspaces } }: ReservationRule) => ({
  key,
  'disable-overrides': disableOverrides,
  'override-count': overrides,
  'refused-in': disableOverrides ? { projects, workspaces } : { projects: 0, workspaces: 0 },
});

const renderMeta = ({ reservedTagKey, before, after }: ReservationPreview) => ({
  'reserved-tag-key': reservedTagKey,
  before: before && renderRule(before),
  after: renderRule(after),
});

@Controller('api/v2')
export class TagOverridesController {
  constructor(private readonly database: Database) {}

  /** Lists the workspaces that override the key, before a change forbids overrides. */
  @Post('organizations/:organization/reserved-tag-keys/actions/preview')
  @HttpCode(200)
  @ConfigureRoute({ effect: 'reads' })
  async preview(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { id, attributes } = parseBody(previewBody, body).data;
    const proposal = { ...fromAttributes(omitNullish(attributes)), key: attributes.key, id: id || null };
    const page = parsePage(query);
    const preview = await loadReservationPreview(this.database, actor, organization, proposal, page);
    const { rows, total } = preview.overrides;
    const { meta, ...rest } = renderPage(rows.map(renderTagOverride), page, total, request.publicUrl);
    return { ...rest, meta: { ...meta, preview: renderMeta(preview) } };
  }
}
