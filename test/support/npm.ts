/** An npm that fetches nothing: it takes the package from this checkout. */
import { ROOT } from './children.ts';

/** As npm does it: packs a package, and installs what package.json names. `$NPM_DOES` is run before each. */
export const NPM: string = `#!/bin/sh
eval "$NPM_DOES"
case "$1" in
  pack) echo "$PACKAGE_CONTENT" > "$PWD/hive-sidecar-0.1.0.tgz" ;;
  install)
    mkdir -p node_modules/hive-sidecar
    cp -r ${ROOT}/bin ${ROOT}/dist ${ROOT}/package.json node_modules/hive-sidecar
    mkdir node_modules/hive-sidecar/elisp
    for own in $(grep -o '"node-[a-z0-9-]*"' package.json | tr -d '"'); do
      mkdir -p node_modules/$own/bin && ln -s ${process.execPath} node_modules/$own/bin/node
    done ;;
esac
`;
