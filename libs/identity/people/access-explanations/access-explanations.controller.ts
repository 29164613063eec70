import { Controller, Get, Param, Query } from '@nestjs/common';
import { badRequest } from '#platform/kernel';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  getParameter,
  renderDocument,
  requireParameter,
  toOne,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { explainAccess, type AccessExplanation, type PermittedResources } from './access-explanation.js';
import {
  findPermittedResources,
  loadExplanationRequest,
  type ExplanationRequest,
} from './access-explanations.queries.js';
import { EXPLAINED_PERMISSIONS, getExplainedResourceKind, type ExplainedPermission } from './explained-permissions.js';

const parsePermission = (query: QueryOf): ExplainedPermission => {
  const text = requireParameter(query, 'filter[permission]');
  const permission = EXPLAINED_PERMISSIONS.find((each) => each === text);
  if (permission !== undefined) return permission;
  const detail = `filter[permission]: must be one of ${EXPLAINED_PERMISSIONS.join(', ')}, got "${text}"`;
  throw badRequest(detail, 'filter[permission]');
};

/** Returns the one of two parameters that was sent, or null for none. */
const parseEither = <A extends string, B extends string>(
  query: QueryOf,
  first: A,
  second: B,
): { readonly kind: A | B; readonly id: string } | null => {
  const [one, other] = [getParameter(query, `filter[${first}]`), getParameter(query, `filter[${second}]`)];
  if (one && other) {
    throw badRequest(`filter[${second}]: cannot be sent together with filter[${first}]`, `filter[${second}]`);
  }
  if (one) return { kind: first, id: one };
  return other ? { kind: second, id: other } : null;
};

const parseExplanationRequest = (query: QueryOf): ExplanationRequest => {
  const subject = parseEither(query, 'user', 'team');
  if (subject === null) throw badRequest('filter[user] or filter[team] is required', 'filter[user]');
  return { subject, permission: parsePermission(query), resource: parseEither(query, 'workspace', 'project') };
};

/** What an explanation without a workspace and a project is about. */
const EXPLAINED_SCOPES = {
  organization: 'organization',
  project: 'every-project',
  workspace: 'every-workspace',
} as const;

/** Renders an explanation. Its id is made from the request, because the server stores no explanations. */
const renderAccessExplanation = (
  { subject, permission, resource }: ExplanationRequest,
  { isPermitted, steps, sufficient }: AccessExplanation,
  permittedOn: PermittedResources | null,
): Resource => ({
  id: [subject.id, permission, ...(resource === null ? [] : [resource.id])].join(':'),
  type: 'access-explanations',
  attributes: {
    permission,
    scope: resource === null ? EXPLAINED_SCOPES[getExplainedResourceKind(permission)] : 'resource',
    'is-permitted': isPermitted,
    'permitted-on': permittedOn,
    steps,
    'sufficient-roles': sufficient.roles,
    'sufficient-levels': sufficient.levels,
  },
  relationships: {
    subject: toOne(`${subject.kind}s`, subject.id, `/api/v2/${subject.kind}s/${subject.id}`),
    ...(resource === null
      ? {}
      : { resource: toOne(`${resource.kind}s`, resource.id, `/api/v2/${resource.kind}s/${resource.id}`) }),
  },
});

@Controller('api/v2')
export class AccessExplanationsController {
  constructor(private readonly database: Database) {}

  @Get('organizations/:organization/access-explanations')
  @ConfigureRoute({
    filters: ['filter[user]', 'filter[team]', 'filter[permission]', 'filter[workspace]', 'filter[project]'],
  })
  async explain(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const request = parseExplanationRequest(query);
    const { subject, resource } = await loadExplanationRequest(this.database, actor, organization, request);
    const explained = { subject, permission: request.permission };
    const permittedOn = resource === null ? await findPermittedResources(this.database, explained) : null;
    return renderDocument(renderAccessExplanation(request, explainAccess(explained, resource), permittedOn));
  }
}
