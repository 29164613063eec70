import type { z } from 'zod';
import {
  describeDocument,
  describeEmpty,
  describePage,
  htmlPage,
  includeParameter,
  nextPage,
  pageParameters,
  pageRefusalContent,
  type AnswerDescription,
  type IncludeDescription,
  type OperationDescription,
  type OperationGroup,
} from '#api/json-api/description';
import type { DocumentedRoute } from '../routes.js';
import type { DescribedResources } from './documents.js';
import { deriveOperationId, deriveSummary } from './names.js';

/** A description and the members that follow from its route and its group. */
export type CompleteDescription = OperationDescription & {
  readonly operationId: string;
  readonly summary: string;
  readonly answer: AnswerDescription;
};

type OperationSource = {
  readonly route: DocumentedRoute;
  readonly group: OperationGroup;
  readonly description: OperationDescription;
};

const isList = ({ handler }: DocumentedRoute): boolean => /^list(?![a-z])/.test(handler);

const deriveAnswer = (
  route: DocumentedRoute,
  { resource }: OperationGroup,
  include: IncludeDescription | undefined,
): AnswerDescription => {
  if (route.isPage) return route.status === 303 ? nextPage : htmlPage;
  if (route.status === 204) return describeEmpty();
  if (!resource) throw new Error(`${route.path}: give \`${route.handler}\` an \`answer\``);
  const describe = isList(route) ? describePage : describeDocument;
  return describe(resource.name, include ? { included: include.resources } : {});
};

const findInclude = ({ route, group, description }: OperationSource): IncludeDescription | undefined =>
  description.include ?? (route.method === 'GET' && !description.answer ? group.include : undefined);

/** Parameters of pages and `include` come first. */
const completeQuery = ({ route, description }: OperationSource, include?: IncludeDescription) => {
  const query: z.ZodRawShape = {
    ...(isList(route) && !description.answer && !route.isPage ? pageParameters() : {}),
    ...(include && include.values.length > 0 ? includeParameter(include.values) : {}),
    ...description.query,
  };
  return Object.keys(query).length > 0 ? { query } : {};
};

/** The server refuses forms of other sites. */
const refusalsOfForms = { forbidden: 'Another site sent the form.' };

const completeId = ({ route, group, description: { operationId } }: OperationSource): string => {
  if (operationId === undefined && route.alternative === 0) return deriveOperationId(route.handler, group);
  const id = [operationId ?? []].flat()[route.alternative];
  if (id === undefined) throw new Error(`${route.path} has no operationId: the description needs one for each path`);
  return id;
};

/** Adds the members that follow from the route and the group. */
export const completeDescription = (source: OperationSource, resources: DescribedResources): CompleteDescription => {
  const { route, group, description } = source;
  const include = findInclude(source);
  const refusalContent = description.refusalContent ?? group.refusalContent;
  return {
    ...description,
    operationId: completeId(source),
    summary: description.summary ?? deriveSummary(route, group, resources),
    path: { ...group.path, ...description.path },
    ...completeQuery(source, include),
    ...(include ? { include } : {}),
    answer: description.answer ?? deriveAnswer(route, group, include),
    refusals: {
      ...(route.isPage && route.method === 'POST' ? refusalsOfForms : {}),
      ...group.refusals,
      ...description.refusals,
    },
    ...(refusalContent || route.isPage ? { refusalContent: refusalContent ?? pageRefusalContent } : {}),
  };
};
