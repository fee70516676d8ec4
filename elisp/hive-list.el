;;; hive-list.el --- All questions that wait  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A live table of what waits.  It follows the model; point stays on its
;; question, in every window that shows the list.

;;; Code:

(require 'cl-lib)
(require 'hive-model)
(require 'hive-respond)
(require 'hive-text)
(require 'tabulated-list)

(defconst hive-list--rows 500
  "How many rows are shown at most; printing 10,000 takes over a second.")

(defconst hive-list--name "*hive*" "The name of the list's buffer.")

(defface hive-list-critical '((t :inherit error))
  "Questions that are critical."
  :group 'hive)

(defface hive-list-low '((t :inherit shadow))
  "Questions that are not urgent."
  :group 'hive)

(defvar hive-list-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'hive-list-answer)
    (define-key map (kbd "c") #'hive-list-cancel)
    (define-key map (kbd "g") #'hive-list-refresh)
    map)
  "Keymap of `hive-list-mode'.")

(define-derived-mode hive-list-mode tabulated-list-mode "Hive"
  "Major mode of the list of questions that wait.
\\<hive-list-mode-map>\\[hive-list-answer] answers the question at point, \\[hive-list-cancel] cancels it.
The list follows what happens by itself."
  (setq tabulated-list-format [("" 1 nil) ("Agent" 16 t) ("Source" 6 t)
                               ("Project" 16 t) ("Age" 5 nil :right-align t)
                               ("Expires" 7 nil :right-align t) ("Question" 0 t)]
        tabulated-list-padding 1
        tabulated-list-sort-key nil
        tabulated-list-entries #'hive-list--entries
        ;; Right-to-left text in one column must not move the others.
        bidi-paragraph-direction 'left-to-right)
  (setq truncate-lines t)
  (tabulated-list-init-header)
  (add-hook 'window-buffer-change-functions #'hive-list--shown nil t))

;;;; Rows

(defun hive-list--row (prompt)
  "Return the row of PROMPT, as `tabulated-list-entries' wants it."
  (let ((face (pcase (hive-prompt-rank prompt)
                (0 'hive-list-critical) (2 'hive-list-low) (_ 'default))))
    (cl-flet ((cell (text) (propertize text 'face face)))
      (list (plist-get prompt :ask_id)
            (vector (cell (pcase (hive-prompt-rank prompt) (0 "!") (2 "·") (_ " ")))
                    (cell (hive-text-line (plist-get prompt :agent) 30))
                    (cell (hive-text-line (plist-get prompt :source) 6))
                    (cell (hive-text-line (plist-get prompt :project) 30))
                    (cell (hive-text-age (plist-get prompt :created_at)))
                    (cell (hive-text-until (plist-get prompt :expires_at)))
                    (cell (hive-text-line (plist-get prompt :question) 200)))))))

(defun hive-list--entries ()
  "Return the rows of what waits, most urgent first."
  (let ((prompts (hive-prompts)))
    (mapcar #'hive-list--row (if (nthcdr hive-list--rows prompts)
                                 (cl-subseq prompts 0 hive-list--rows)
                               prompts))))

;;;; Following the model

(defvar-local hive-list--stale nil "Non-nil when the model has changed since.")

(defun hive-list--print ()
  "Print the list anew, and leave each window in its place."
  (let ((places (mapcar (lambda (window)
                          (list window
                                (tabulated-list-get-id (window-point window))
                                (count-lines (window-start window)
                                             (window-point window))))
                        (get-buffer-window-list nil nil t)))
        (inhibit-modification-hooks t))
    (tabulated-list-print t)
    (setq hive-list--stale nil)
    (let ((total (length (hive-prompts))))
      (setq mode-line-process
            (if (> total hive-list--rows)
                (format " %d of %d" hive-list--rows total)
              (format " %d" total))))
    (dolist (place places)
      (pcase-let ((`(,window ,id ,_lines) place))
        (let ((pos (and id (hive-list--position id))))
          (when (and pos (not (eq window (selected-window))))
            (set-window-point window pos)))))))

(defun hive-list--position (id)
  "Return where the row of ID begins, or nil."
  (save-excursion
    (goto-char (point-min))
    (while (not (or (eobp) (equal id (tabulated-list-get-id))))
      (forward-line 1))
    (and (not (eobp)) (point))))

(defun hive-list--changed ()
  "Show what changed, or note that it did while out of sight."
  (let ((buffer (get-buffer hive-list--name)))
    (if (not buffer)
        (remove-hook 'hive-changed-hook #'hive-list--changed)
      (with-current-buffer buffer
        (if (get-buffer-window buffer t)
            (hive-list--print)
          (setq hive-list--stale t))))))

(defun hive-list--shown (window)
  "Bring the list up to date when WINDOW comes to show it."
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (and (derived-mode-p 'hive-list-mode) hive-list--stale)
        (hive-list--print)))))

;;;; Commands

;;;###autoload
(defun hive-list ()
  "List the questions that wait for you.
\\<hive-list-mode-map>\\[hive-list-answer] answers one, \\[hive-list-cancel] cancels it, \\[hive-list-refresh] asks the sidecar anew."
  (interactive)
  (let ((buffer (get-buffer-create hive-list--name)))
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-list-mode) (hive-list-mode))
      (add-hook 'hive-changed-hook #'hive-list--changed)
      (hive-list--print))
    (pop-to-buffer buffer)))

(defun hive-list--prompt ()
  "Return the prompt at point."
  (or (hive-model-get 'prompt (tabulated-list-get-id))
      (user-error "There is no question on this line")))

(defun hive-list-answer ()
  "Answer the question at point."
  (interactive nil hive-list-mode)
  (hive-answer-prompt (hive-list--prompt) current-prefix-arg))

(defun hive-list-cancel ()
  "Cancel the question at point: its agent gets no answer."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (when (y-or-n-p (format "Cancel the question of %s? "
                            (hive-text-line (plist-get prompt :agent) 40)))
      (hive-cancel-prompt prompt))))

(defun hive-list-refresh ()
  "Print the list anew and ask the sidecar for what waits."
  (interactive nil hive-list-mode)
  (hive-list--print)
  (when (hive-sidecar-connected-p) (hive-model-refresh)))

(provide 'hive-list)
;;; hive-list.el ends here
