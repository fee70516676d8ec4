;;; hive-human.el --- Who you are among several humans  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Your name, which questions concern you, and who has taken one up.  A
;; question without an address concerns everybody; one for a human or a
;; team those, and everybody once it is escalated (docs/humans.md).

;;; Code:

(require 'cl-lib)
(require 'hive-text)

(defcustom hive-user-name nil
  "The name under which your answers are kept, and you are asked.
Agents see it.  Nil means HIVE_USER of the environment, or else
your login name."
  :type '(choice (const :tag "HIVE_USER or login name" nil) string)
  :group 'hive)

(defvar hive-human-names nil
  "The names that reach you, as the sidecar compares them.")

(defun hive-human-name ()
  "Return your name."
  (hive-text-sendable
   (or (cl-find-if (lambda (name) (and name (not (string-blank-p name))))
                   (list hive-user-name (getenv "HIVE_USER")))
       (user-login-name))))

(defun hive-human-mine-p (prompt)
  "Return non-nil if PROMPT concerns you."
  (or (null (plist-get prompt :to))
      (plist-get prompt :escalated_at)
      (null hive-human-names)           ; a sidecar that knows of no names
      (cl-some (lambda (name) (member name hive-human-names))
               (append (plist-get prompt :recipients) nil))))

(defun hive-human-claimer (prompt)
  "Return who else has taken PROMPT up, or nil."
  (let ((by (plist-get prompt :claimed_by)))
    (and by (not (equal by (hive-human-name))) by)))

(defun hive-human-note (prompt)
  "Return whom PROMPT is for and who is at it, in brackets, or \"\"."
  (let ((to (plist-get prompt :to)) (by (hive-human-claimer prompt)))
    (concat (and to (format "[for %s%s] " (hive-text-line to 30)
                            (if (plist-get prompt :escalated_at) ", now everybody" "")))
            (and by (format "[%s is at it] " (hive-text-line by 30))))))

(provide 'hive-human)
;;; hive-human.el ends here
