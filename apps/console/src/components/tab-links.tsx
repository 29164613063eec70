import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import classes from './tab-links.module.css';

/** `isParent`: the link is the current one on the screens below it, too. */
export type TabLink = { readonly label: string; readonly to: string; readonly isParent?: boolean };

/** Links between screens that belong together. `label` names them. */
export const TabLinks = ({ label, tabs }: { readonly label: string; readonly tabs: readonly TabLink[] }) => {
  const bar = useRef<HTMLElement>(null);
  const current = useLocation({ select: ({ pathname }) => pathname });
  // In a narrow window, the bar scrolls.
  useEffect(() => {
    bar.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  return (
    <nav aria-label={label} className={classes['tabs']} ref={bar}>
      {tabs.map(({ label: text, to, isParent = false }) => (
        <Link
          key={to}
          to={to}
          className={classes['tab']}
          activeOptions={{ exact: !isParent, includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
};
