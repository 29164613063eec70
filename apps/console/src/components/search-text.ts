import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

const TYPING_MS = 200;

/**
 * The text of a search field. `onApply` receives it when the person stops typing. The field follows `applied` if something
 * else changes it, such as a link or a cleared filter, and never the typing of the person.
 */
export const useSearchText = (
  applied: string,
  onApply: (text: string) => void,
): { readonly text: string; readonly type: (text: string) => void } => {
  const [text, setText] = useState(applied);
  const [latest, setLatest] = useState({ applied, typed: applied });
  if (latest.applied !== applied) {
    setLatest({ applied, typed: applied });
    if (latest.typed !== applied) setText(applied);
  }
  const apply = useDebouncedCallback((value: string) => {
    setLatest((before) => ({ ...before, typed: value.trim() }));
    onApply(value.trim());
  }, TYPING_MS);
  return {
    text,
    type: (value) => {
      setText(value);
      apply(value);
    },
  };
};
