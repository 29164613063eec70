import { usePermission } from '../../api/organizations.js';
import { TabLinks } from '../../components/tab-links.js';

/** The screens about people and tokens. Only owners see the addresses that the organization accepts. */
export const PeopleTabs = ({ organization }: { readonly organization: string }) => {
  const isOwner = usePermission(organization, 'can-update');
  return (
    <TabLinks
      label="People"
      tabs={[
        { label: 'Members', to: `/${organization}/people` },
        { label: 'Tokens', to: `/${organization}/people/tokens` },
        ...(isOwner ? [{ label: 'IP allowlist', to: `/${organization}/people/addresses` }] : []),
      ]}
    />
  );
};
