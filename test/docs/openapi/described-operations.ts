import type { ControllerDescription, OperationTag, ResourceDescription } from '#api/json-api/description';
import { filesOf } from '../../support/gateway-routes.js';
import { routes, type DocumentedRoute } from '../routes.js';
import { completeDescription, type CompleteDescription } from './defaults.js';

/** A route with its description. */
export type DescribedOperation = {
  readonly route: DocumentedRoute;
  readonly tag: OperationTag;
  readonly description: CompleteDescription;
};

const importLibrary = async (file: string): Promise<readonly object[]> => {
  const exports = (await import(`../../../libs/${file.replace(/ts$/, 'js')}`)) as Record<string, unknown>;
  return Object.values(exports).filter((value) => typeof value === 'object' && value !== null);
};

/** Files named `*.openapi.ts` describe routes and resources. */
const loadDescriptions = async (): Promise<readonly object[]> =>
  (await Promise.all((await filesOf(/\.openapi\.ts$/)).map(importLibrary))).flat();

const isController = (value: object): value is ControllerDescription => 'controller' in value && 'operations' in value;

const isResource = (value: object): value is ResourceDescription => 'exampleId' in value && 'schema' in value;

/** Returns the described resources by name. Throws if two have the same name. */
export const loadResources = async (): Promise<ReadonlyMap<string, ResourceDescription>> => {
  const resources = (await loadDescriptions()).filter(isResource);
  const byName = new Map(resources.map((resource) => [resource.name, resource]));
  const repeated = resources.filter((resource) => byName.get(resource.name) !== resource).map(({ name }) => name);
  if (repeated.length > 0) throw new Error(`several schemas have the name ${repeated.join(', ')}`);
  return byName;
};

/** Returns every route that is described, with its description. */
export const loadOperations = async (): Promise<readonly DescribedOperation[]> => {
  const resources = await loadResources();
  const controllers = (await loadDescriptions()).filter(isController);
  const byController = new Map(controllers.map((described) => [described.controller, described]));
  return (await routes()).flatMap((route) => {
    const described = byController.get(route.controller);
    const description = described?.operations[route.handler];
    if (!described || !description) return [];
    const { group } = described;
    return [{ route, tag: group, description: completeDescription({ route, group, description }, resources) }];
  });
};
