;;; hive-manual.el --- The manual in Info  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The manual lies beside these files, where the package was installed with
;; npm or by a package manager.  In a clone, `npm run build' makes it.

;;; Code:

(require 'info)

(defconst hive-manual--directory
  (file-name-directory (or load-file-name buffer-file-name default-directory))
  "Where the manual lies.")

;; The menu of C-h i lists it then.
(add-to-list 'Info-additional-directory-list hive-manual--directory)

;;;###autoload
(defun hive-manual ()
  "Read the manual of Hive in Info."
  (interactive)
  (if (file-exists-p (expand-file-name "hive.info" hive-manual--directory))
      (info (format "(%s)" (expand-file-name "hive.info" hive-manual--directory)))
    (user-error "The manual is not made yet: run `npm run build' in %s"
                (abbreviate-file-name (file-name-directory
                                       (directory-file-name hive-manual--directory))))))

(provide 'hive-manual)
;;; hive-manual.el ends here
