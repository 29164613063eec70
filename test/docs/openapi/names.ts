import { toWords, type OperationGroup } from '#api/json-api/description';
import type { DocumentedRoute } from '../routes.js';
import type { DescribedResources } from './documents.js';
import { addArticle, toPlural } from './nouns.js';

/** `listOfWorkspace` has the owner `Workspace`, and `showByName` has the key `Name`. */
type HandlerParts = { readonly verb: string; readonly owner?: string; readonly key?: string };

const HANDLER_NAME = /^(?<verb>[a-z]+(?:[A-Z][a-z]+)*?)(?:(?:Of|In|For)(?<owner>[A-Z]\w*)|By(?:Id|(?<key>[A-Z]\w*)))?$/;

const parseHandlerName = (handler: string): HandlerParts => ({
  verb: handler,
  ...HANDLER_NAME.exec(handler)?.groups,
});

const ID_VERBS: Readonly<Record<string, string>> = { show: 'get', destroy: 'delete' };

/**
 * Returns `listSshKeys` for the handler `list` of SSH keys, `getUserToken` for `showOfUser` of tokens, and
 * `lockWorkspace` for `lock` of workspaces. Without a resource, it is the name of the handler.
 */
export const deriveOperationId = (handler: string, { idName, resource }: OperationGroup): string => {
  const name = idName ?? resource?.name;
  if (name === undefined) return handler;
  const { verb, owner = '', key } = parseHandlerName(handler);
  const object = verb === 'list' ? toPlural(name) : name;
  return `${ID_VERBS[verb] ?? verb}${owner}${object}${key ? `By${key}` : ''}`;
};

const IMPERATIVES: Readonly<Record<string, string>> = { update: 'Change', destroy: 'Delete' };

const toImperative = (verb: string): string => IMPERATIVES[verb] ?? `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;

const nounOf = (name: string, resources: DescribedResources): string => resources.get(name)?.noun ?? toWords(name);

/** Returns the noun of the last resource in the path that has a collection: `organization` for `/organizations/:name/teams`. */
const findOwner = ({ path }: DocumentedRoute, resources: DescribedResources): string | undefined => {
  const collection = path.match(/.*\/([\w-]+)\/:\w+\//)?.[1];
  return [...resources.values()].find(({ type }) => type === collection)?.noun;
};

/**
 * Returns `List the SSH keys of an organization`, `Create a token of a user` or `Lock a workspace`. Throws if the handler
 * is not named by one verb, or if no resource is known.
 */
export const deriveSummary = (
  route: DocumentedRoute,
  { resource }: OperationGroup,
  resources: DescribedResources,
): string => {
  const { verb, owner, key } = parseHandlerName(route.handler);
  if (!resource || /[A-Z]/.test(verb)) throw new Error(`${route.path}: give \`${route.handler}\` a \`summary\``);
  const { noun } = resource;
  if (verb === 'list') {
    const ownerNoun = owner ? nounOf(owner, resources) : findOwner(route, resources);
    const isComplete = ownerNoun === undefined || noun.includes(' of ');
    return `List the ${toPlural(noun)}${isComplete ? '' : ` of ${addArticle(ownerNoun)}`}`;
  }
  const ofOwner = owner ? ` of ${addArticle(nounOf(owner, resources))}` : '';
  return `${toImperative(verb)} ${addArticle(noun)}${ofOwner}${key ? ` by its ${toWords(key)}` : ''}`;
};
