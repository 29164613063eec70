import type { ReactNode, SVGProps } from 'react';

/* Icons of 24 × 24 with lines of 2, in the style of the product's own icon. They decorate: texts beside them name things. */

export type IconProps = SVGProps<SVGSVGElement> & { readonly size?: number };

const defineIcon =
  (paths: ReactNode) =>
  ({ size = 18, ...props }: IconProps) => (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      {...props}
    >
      {paths}
    </svg>
  );

export const SearchIcon = defineIcon(
  <>
    <circle cx="11" cy="11" r="7" />
    <path d="m20 20-4-4" />
  </>,
);
export const WorkspaceIcon = defineIcon(
  <>
    <path d="m12 3 9 5-9 5-9-5z" />
    <path d="m3 13 9 5 9-5" />
  </>,
);
export const OrganizationIcon = defineIcon(
  <>
    <path d="M4 21V5a1 1 0 0 1 1-1h8a1 1 0 0 1 1 1v16" />
    <path d="M14 10h5a1 1 0 0 1 1 1v10M2 21h20M8 8h2M8 12h2M8 16h2" />
  </>,
);
export const LockIcon = defineIcon(
  <>
    <rect x="5" y="11" width="14" height="10" rx="2" />
    <path d="M8 11V7a4 4 0 0 1 8 0v4" />
  </>,
);
export const UnlockIcon = defineIcon(
  <>
    <rect x="5" y="11" width="14" height="10" rx="2" />
    <path d="M8 11V7a4 4 0 0 1 7.5-2" />
  </>,
);
export const CopyIcon = defineIcon(
  <>
    <rect x="9" y="9" width="12" height="12" rx="2" />
    <path d="M5 15H4a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v1" />
  </>,
);
export const CheckIcon = defineIcon(<path d="m5 13 4 4L19 7" />);
export const ChevronDownIcon = defineIcon(<path d="m6 9 6 6 6-6" />);
export const ArrowUpIcon = defineIcon(<path d="M12 19V5m-6 6 6-6 6 6" />);
export const ArrowDownIcon = defineIcon(<path d="M12 5v14m-6-6 6 6 6-6" />);
export const CloseIcon = defineIcon(<path d="m6 6 12 12M18 6 6 18" />);
export const PlusIcon = defineIcon(<path d="M12 5v14M5 12h14" />);
export const SunIcon = defineIcon(
  <>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 2v2m0 16v2M4.9 4.9l1.4 1.4m11.4 11.4 1.4 1.4M2 12h2m16 0h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4" />
  </>,
);
export const MoonIcon = defineIcon(<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z" />);
export const AutoIcon = defineIcon(
  <>
    <rect x="3" y="4" width="18" height="12" rx="2" />
    <path d="M8 20h8m-4-4v4" />
  </>,
);
export const UserIcon = defineIcon(
  <>
    <circle cx="12" cy="8" r="4" />
    <path d="M4 21a8 8 0 0 1 16 0" />
  </>,
);
export const SignOutIcon = defineIcon(
  <>
    <path d="M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4" />
    <path d="m16 17 5-5-5-5m5 5H9" />
  </>,
);
export const KeyboardIcon = defineIcon(
  <>
    <rect x="2" y="6" width="20" height="12" rx="2" />
    <path d="M6 10h.01M10 10h.01M14 10h.01M18 10h.01M8 14h8" />
  </>,
);
export const ClockIcon = defineIcon(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7v5l3 2" />
  </>,
);
export const AlertIcon = defineIcon(
  <>
    <path d="M12 3 2 20h20z" />
    <path d="M12 10v4m0 3h.01" />
  </>,
);
export const VariableIcon = defineIcon(
  <path d="M8 4C5 4 6 11 3 12c3 1 2 8 5 8m8-16c3 0 2 7 5 8-3 1-2 8-5 8M9.5 9.5l5 5m0-5-5 5" />,
);
export const RunIcon = defineIcon(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="m10 8.5 5.5 3.5-5.5 3.5z" />
  </>,
);
export const ResourceIcon = defineIcon(
  <>
    <path d="m12 2 8 4.5v9L12 20l-8-4.5v-9z" />
    <path d="m4 6.5 8 4.5 8-4.5M12 11v9" />
  </>,
);
export const AuditTrailIcon = defineIcon(
  <>
    <path d="M8 6h12M8 12h12M8 18h12" />
    <path d="M4 6h.01M4 12h.01M4 18h.01" />
  </>,
);
export const RegistryIcon = defineIcon(
  <>
    <rect x="3" y="4" width="18" height="7" rx="1.5" />
    <rect x="3" y="14" width="18" height="6" rx="1.5" />
    <path d="M7 7.5h.01M7 17h.01" />
  </>,
);
export const ProjectIcon = defineIcon(<path d="M4 6h5l2 3h9v10H4z" />);
export const SettingsIcon = defineIcon(
  <>
    <path d="M4 7h9m6 0h1M4 17h1m6 0h9" />
    <circle cx="16" cy="7" r="3" />
    <circle cx="8" cy="17" r="3" />
  </>,
);
export const SiteIcon = defineIcon(
  <>
    <rect x="4" y="3" width="16" height="7" rx="1.5" />
    <rect x="4" y="14" width="16" height="7" rx="1.5" />
    <path d="M8 6.5h.01M8 17.5h.01M12 6.5h4m-4 11h4" />
  </>,
);
export const BellIcon = defineIcon(<path d="M18 9a6 6 0 0 0-12 0c0 6-2 8-2 8h16s-2-2-2-8M10 21h4" />);
export const TeamIcon = defineIcon(
  <>
    <circle cx="9" cy="8" r="3.5" />
    <path d="M2.5 20a6.5 6.5 0 0 1 13 0M16 4.7a3.5 3.5 0 0 1 0 6.6M18 14.2a6.5 6.5 0 0 1 3.5 5.8" />
  </>,
);
export const TagIcon = defineIcon(
  <>
    <path d="M3 12V4a1 1 0 0 1 1-1h8l9 9-9 9z" />
    <path d="M7.5 7.5h.01" />
  </>,
);
export const KeyIcon = defineIcon(
  <>
    <circle cx="8" cy="15" r="4" />
    <path d="m11 12 9-9m-4 4 3 3" />
  </>,
);
export const HomeIcon = defineIcon(<path d="m3 11 9-8 9 8v9a1 1 0 0 1-1 1h-5v-7H9v7H4a1 1 0 0 1-1-1z" />);
export const MoreIcon = defineIcon(
  <>
    <path d="M5 12h.01" />
    <path d="M12 12h.01" />
    <path d="M19 12h.01" />
  </>,
);
