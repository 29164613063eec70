import { TabLinks } from '../../components/tab-links.js';

/** The screens about teams and their access. */
export const TeamTabs = ({ organization }: { readonly organization: string }) => (
  <TabLinks
    label="Teams"
    tabs={[
      { label: 'Teams', to: `/${organization}/teams` },
      { label: 'Access', to: `/${organization}/teams/access` },
      { label: 'Explain', to: `/${organization}/teams/why` },
    ]}
  />
);
