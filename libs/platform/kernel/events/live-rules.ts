/**
 * Where an event contains an id: its stream, its organization, a field of its data, or a field of the first event of its
 * stream.
 */
export type IdSource = 'stream' | 'organization' | { readonly field: string } | { readonly first: string };

/** What happened to the resource of a live message. */
export type ChangeWord = 'created' | 'changed' | 'deleted';

/** Who may read the resource of a message. Permissions are those of the access module. */
export type ScopeRule =
  | { readonly in: 'organization'; readonly permission: string }
  | {
      readonly in: 'workspace';
      readonly id: IdSource;
      readonly permission: string;
      /** The project of the workspace. It decides who gets the message after the workspace is deleted. */
      readonly project?: IdSource;
      /** The project that the workspace was moved from. */
      readonly left?: IdSource;
      /** Whether callers that may only read the workspace get a message that the workspace has changed. */
      readonly changesWorkspace?: true;
    }
  | { readonly in: 'project'; readonly id: IdSource; readonly permission: string }
  | { readonly in: 'team' }
  /** Callers that may manage the tokens of a team. */
  | { readonly in: 'team-tokens'; readonly team: IdSource }
  | {
      readonly in: 'team-access';
      readonly target: 'workspace' | 'project';
      readonly id: IdSource;
      readonly team: IdSource;
    }
  | { readonly in: 'variable-set'; readonly project: IdSource }
  /** `owner`: a field with type and id: the workspace or variable set of a variable. */
  | { readonly in: 'variable'; readonly owner: IdSource }
  /** `target`: a field with type and id: the workspace or organization of a data retention policy. */
  | { readonly in: 'policy'; readonly target: IdSource };

/**
 * A rule for events that become live messages. The fields that it names must exist in every version of the event's
 * schema, because no upcast runs: the reader selects these fields alone, so that no content of an event can reach a
 * message.
 */
export type SentRule = {
  readonly word: ChangeWord;
  /** The JSON:API type of the resource, and its id. */
  readonly resource: { readonly type: string; readonly id: IdSource };
  readonly scope: ScopeRule;
  /** Whose access the event changes: a user, or a team with its members. */
  readonly access?: { readonly user?: IdSource; readonly team?: IdSource };
};

/** A rule for events that become no live messages, with the reason. */
export type UnsentRule = { readonly unsent: string };

export type LiveRule = SentRule | UnsentRule;

export const isSent = (rule: LiveRule): rule is SentRule => !('unsent' in rule);

const isSource = (value: unknown): value is IdSource =>
  typeof value === 'object' || value === 'stream' || value === 'organization';

/** Returns all ids that a rule needs. */
export const listSources = ({ resource, scope, access = {} }: SentRule): readonly IdSource[] => {
  const { in: _, ...sources } = scope;
  const values = [{ id: resource.id }, sources, access].flatMap((ids) => Object.values<unknown>(ids));
  return values.filter(isSource);
};
