const pluralize = (word: string): string => {
  if (/[^aeiou]y$/.test(word)) return word.replace(/y$/, 'ies');
  return word.endsWith('s') ? word : `${word}s`;
};

/** Returns `agent pools` for `agent pool`, and `versions of a provider` for `version of a provider`. */
export const toPlural = (noun: string): string => noun.replace(/^.*?(?= of |$)/, pluralize);

/** A vowel, or a letter whose name begins with one in an abbreviation that is spelled: an SSH key. */
const NEEDS_AN = /^(?:[aeioAEIO]|[FHLMNRSX][A-Z])/;

/** Returns `an agent pool` for `agent pool`. */
export const addArticle = (noun: string): string => `${NEEDS_AN.test(noun) ? 'an' : 'a'} ${noun}`;
