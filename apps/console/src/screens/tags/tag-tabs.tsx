import { TabLinks } from '../../components/tab-links.js';

/** The screens about tags. */
export const TagTabs = ({ organization }: { readonly organization: string }) => (
  <TabLinks
    label="Tags"
    tabs={[
      { label: 'Workspaces', to: `/${organization}/tags` },
      { label: 'Reserved keys', to: `/${organization}/tags/reserved` },
    ]}
  />
);
