;; `package-vc-install' and `use-package :vc' compile every Lisp file of the clone.
(("test" . ((emacs-lisp-mode . ((no-byte-compile . t)))))
 ("bench" . ((emacs-lisp-mode . ((no-byte-compile . t)))))
 ("scripts" . ((emacs-lisp-mode . ((no-byte-compile . t))))))
