import { useIntersection } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';

type WhenVisibleProps = {
  /** The height in pixels that is kept free before. */
  readonly height: number;
  readonly children: ReactNode;
};

/** Shows its content, and so loads its code and its data, when the person has scrolled near it. */
export const WhenVisible = ({ height, children }: WhenVisibleProps) => {
  const { ref, entry } = useIntersection({ rootMargin: '200px' });
  const [wasNear, setWasNear] = useState(false);
  if (entry?.isIntersecting && !wasNear) setWasNear(true);
  return wasNear ? children : <div ref={ref} style={{ height }} aria-hidden="true" />;
};
