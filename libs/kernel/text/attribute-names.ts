const attributes = new Map<string, string>();

/** `autoApply` → `auto-apply`: inside we write camelCase, outside the API's names. */
export const toAttributeName = (key: string): string => {
  let attribute = attributes.get(key);
  if (attribute === undefined) {
    attribute = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    attributes.set(key, attribute);
  }
  return attribute;
};

/** `auto-apply` → `autoApply`, the way back. */
export const toPropertyName = (attribute: string): string =>
  attribute.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** `auto-apply` → `Auto apply`: how texts for people begin. */
export const toLabel = (attribute: string): string =>
  attribute.charAt(0).toUpperCase() + attribute.slice(1).replaceAll('-', ' ');

/** For trails: which attributes a change is of, by the API's names. What they have become may be a secret. */
export const describeChangedAttributes = (changes: object): { readonly attributes: readonly string[] } => ({
  attributes: Object.keys(changes).map(toAttributeName),
});
