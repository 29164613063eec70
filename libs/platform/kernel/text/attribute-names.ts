const attributes = new Map<string, string>();

/** Converts `autoApply` to `auto-apply`: the code uses camelCase, the API uses hyphens. */
export const toAttributeName = (key: string): string => {
  let attribute = attributes.get(key);
  if (attribute === undefined) {
    attribute = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    attributes.set(key, attribute);
  }
  return attribute;
};

/** Converts `auto-apply` to `autoApply`. */
export const toPropertyName = (attribute: string): string =>
  attribute.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Converts `auto-apply` to `Auto apply`, the beginning of an error message. */
export const toLabel = (attribute: string): string =>
  attribute.charAt(0).toUpperCase() + attribute.slice(1).replaceAll('-', ' ');

/**
 * Returns the API's names of the changed attributes for the audit trail. The new values are left out because they may
 * be secrets.
 */
export const describeChangedAttributes = (changes: object): { readonly attributes: readonly string[] } => ({
  attributes: Object.keys(changes).map(toAttributeName),
});
