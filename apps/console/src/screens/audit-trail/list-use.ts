import { useState } from 'react';

/** Whether the pointer or the focus is in the list. Its rows then stay where they are. */
export const useListUse = () => {
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  return {
    isInUse: isPointed || isFocused,
    events: {
      onPointerEnter: () => setPointed(true),
      onPointerLeave: () => setPointed(false),
      onFocus: () => setFocused(true),
      onBlur: () => setFocused(false),
    },
  };
};

export type ListUse = ReturnType<typeof useListUse>;
