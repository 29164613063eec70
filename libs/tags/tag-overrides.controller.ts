import { Body, Controller, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import {
  pageDocument,
  pageOf,
  parseBody,
  toOne,
  said,
  valuesOf,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import { previewBody } from './reserved-tag-keys.body.js';
import { tagBindingId } from '#tag-bindings';
import { previewOf, type Preview, type Rule, type TagOverrideRow } from './tag-overrides.queries.js';

/** Its id is that of the workspace's own binding. A flat tag shows as a binding with an empty value (clients.md §7). */
const tagOverrideResource = (row: TagOverrideRow): Resource => ({
  id: tagBindingId(row.id, row.key),
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

/** Only where overrides are disabled is anything refused. */
const ruleOf = ({ key, disableOverrides, reach: { overrides, projects, workspaces } }: Rule) => ({
  key,
  'disable-overrides': disableOverrides,
  'override-count': overrides,
  'refused-in': disableOverrides ? { projects, workspaces } : { projects: 0, workspaces: 0 },
});

const metaOf = ({ reservedTagKey, before, after }: Preview) => ({
  'reserved-tag-key': reservedTagKey,
  before: before && ruleOf(before),
  after: ruleOf(after),
});

/** Tags of workspaces that take the place of their project's. */
@Controller('api/v2')
export class TagOverridesController {
  constructor(private readonly database: Database) {}

  /** Who overrides the key now, before anybody is kept from it. */
  @Post('organizations/:organization/reserved-tag-keys/actions/preview')
  @HttpCode(200)
  async preview(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { id, attributes } = parseBody(previewBody, body).data;
    const proposal = { ...valuesOf(said(attributes)), key: attributes.key, id: id || null };
    const page = pageOf(query);
    const preview = await previewOf(this.database, actor, organization, proposal, page);
    const { rows, total } = preview.overrides;
    const { meta, ...rest } = pageDocument(rows.map(tagOverrideResource), page, total, request.url);
    return { ...rest, meta: { ...meta, preview: metaOf(preview) } };
  }
}
