import { Link } from '@tanstack/react-router';
import classes from './tab-links.module.css';

export type TabLink = { readonly label: string; readonly to: string };

/** Links between screens that belong together. `label` names them. */
export const TabLinks = ({ label, tabs }: { readonly label: string; readonly tabs: readonly TabLink[] }) => (
  <nav aria-label={label} className={classes['tabs']}>
    {tabs.map(({ label: text, to }) => (
      <Link
        key={to}
        to={to}
        className={classes['tab']}
        activeOptions={{ exact: true, includeSearch: false }}
        activeProps={{ 'aria-current': 'page' }}
      >
        {text}
      </Link>
    ))}
  </nav>
);
