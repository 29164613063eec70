import { useLayoutEffect, useState, type RefObject } from 'react';

/** Returns the width of the columns: all the space that the grid has, and at least `least`. */
export const useColumnWidth = (
  scroller: RefObject<HTMLDivElement | null>,
  { count, least, headerWidth }: { readonly count: number; readonly least: number; readonly headerWidth: number },
): number => {
  const [available, setAvailable] = useState(0);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (!current) return undefined;
    const observer = new ResizeObserver(() => setAvailable(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, [scroller]);
  return Math.max(least, Math.floor((available - headerWidth) / Math.max(count, 1)));
};
