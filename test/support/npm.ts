/** An npm that fetches nothing: it packs this checkout. */
import { ROOT } from './children.ts';

/** As npm does it: packs a package, and installs what package.json names. `$NPM_DOES` is run before each. */
export const NPM: string = `#!/bin/sh
set -e
eval "$NPM_DOES"
case "$1" in
  pack)
    mkdir package
    echo "$PACKAGE_CONTENT" > package/content
    cp -r ${ROOT}/bin ${ROOT}/package.json ${ROOT}/plugin package
    mkdir package/dist package/elisp
    cp ${ROOT}/dist/*.cjs package/dist
    tar -c --sort=name --mtime=@0 package | gzip -1n > hive-sidecar-0.1.0.tgz
    rm -r package ;;
  install)
    mkdir -p node_modules
    for own in $(grep -o '"node-[a-z0-9]*-[a-z0-9-]*"' package.json | tr -d '"'); do
      mkdir -p node_modules/$own/bin && ln -s ${process.execPath} node_modules/$own/bin/node
    done ;;
esac
`;
