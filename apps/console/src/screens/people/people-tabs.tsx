import { TabLinks } from '../../components/tab-links.js';

/** The screens about people and tokens. */
export const PeopleTabs = ({ organization }: { readonly organization: string }) => (
  <TabLinks
    label="People"
    tabs={[
      { label: 'Members', to: `/${organization}/people` },
      { label: 'Tokens', to: `/${organization}/people/tokens` },
    ]}
  />
);
