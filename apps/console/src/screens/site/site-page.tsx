import type { ReactNode } from 'react';
import { ApiError } from '../../api/api-error.js';
import { AdministratorsOnly } from '../../components/administrators-only.js';
import { Page } from '../../components/page.js';
import { SiteTabs } from './site-tabs.js';

type SitePageProps = {
  /** Absent: the first screen. */
  readonly title?: string;
  readonly description: string;
  readonly actions?: ReactNode;
  /** Why the data of the screen cannot be read. */
  readonly error: Error | null;
  readonly children: ReactNode;
};

/** The frame around each screen of the site. Other people than its administrators see that it is for them. */
export const SitePage = ({ title, description, actions, error, children }: SitePageProps) => (
  <Page title={title ?? 'Site'} description={description} actions={actions}>
    {error instanceof ApiError && error.isNotFound ? (
      <AdministratorsOnly />
    ) : (
      <>
        <SiteTabs />
        {children}
      </>
    )}
  </Page>
);
