import type { ApiResource } from '#packages/client';

/* The tags of workspaces in documents that include their effective tag bindings. */

type TaggedDocument = ApiResource<'WorkspacePageWithIncluded' | 'WorkspaceDocumentWithIncluded'>;
type EffectiveBinding = ApiResource<'EffectiveTagBinding'>;

export type TagFact = {
  readonly key: string;
  /** Empty for a tag without a value. */
  readonly value: string;
  /** Whether the project binds it, and not the workspace itself. */
  readonly isInherited: boolean;
  /** Whether a reserved key forbids new values of the workspace itself. */
  readonly isForbidden: boolean;
};

const isEffectiveBinding = (resource: { readonly type: string }): resource is EffectiveBinding =>
  resource.type === 'effective-tag-bindings';

/** Returns a function that lists the tags of a workspace of this document: bindings first, and then flat tags. */
export const createTagReader = ({ included = [] }: Pick<TaggedDocument, 'included'>) => {
  const bindings = new Map(included.filter(isEffectiveBinding).map((each) => [each.id, each]));
  return ({ attributes, relationships }: ApiResource<'Workspace'>): readonly TagFact[] => {
    const bound = (relationships['effective-tag-bindings']?.data ?? []).flatMap(({ id }): TagFact[] => {
      const binding = bindings.get(id);
      if (!binding) return [];
      const { key, value, 'forbidden-by': forbiddenBy } = binding.attributes;
      return [{ key, value, isInherited: binding.links !== undefined, isForbidden: forbiddenBy !== null }];
    });
    const keys = new Set(bound.map(({ key }) => key));
    const flat = attributes['tag-names'].filter((name) => !keys.has(name));
    return [...bound, ...flat.map((key) => ({ key, value: '', isInherited: false, isForbidden: false }))];
  };
};
